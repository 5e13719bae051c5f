// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// What USDC and EURC look like to a payer and to a watcher, for the local Base chains: the interface, the six
/// decimals, EIP-3009's authorizations and the reasons to revert of Circle's FiatToken v2.2, without its proxy, its
/// minters' allowances and permit.
/// It has no constructor: its code is put at the real token's address, then initialize() is called once.
contract Stablecoin {
    string public name;
    string public symbol;
    string public currency;
    uint8 public constant decimals = 6;
    string public constant version = "2";
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH = keccak256(
        "CancelAuthorization(address authorizer,bytes32 nonce)"
    );
    uint256 public totalSupply;
    address public owner;
    bool public paused;

    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlacklisted;
    /// True for a nonce that is used or cancelled. The last slot: chains from before it had authorizations go on.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Pause();
    event Unpause();

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted[account], "Blacklistable: account is blacklisted");
        _;
    }

    /// Once. Gives every holder `amountEach`, so that a chain is either untouched or ready, never half of it.
    function initialize(
        string calldata name_,
        string calldata symbol_,
        string calldata currency_,
        address owner_,
        address[] calldata holders,
        uint256 amountEach
    ) external {
        require(owner == address(0), "FiatToken: contract is already initialized");
        require(owner_ != address(0), "FiatToken: new owner is the zero address");
        name = name_;
        symbol = symbol_;
        currency = currency_;
        owner = owner_;
        for (uint256 i = 0; i < holders.length; i++) _mint(holders[i], amountEach);
    }

    function transfer(address to, uint256 value)
        external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(to) returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(from) notBlacklisted(to) returns (bool)
    {
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        _transfer(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value)
        external whenNotPaused notBlacklisted(msg.sender) notBlacklisted(spender) returns (bool)
    {
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        requireValid(from, nonce, validAfter, validBefore);
        bytes32 typeHash = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        bytes32 data = keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce));
        requireSigned(from, data, signature);
        use(from, nonce);
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        requireValid(from, nonce, validAfter, validBefore);
        bytes32 typeHash = RECEIVE_WITH_AUTHORIZATION_TYPEHASH;
        bytes32 data = keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce));
        requireSigned(from, data, signature);
        use(from, nonce);
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external whenNotPaused {
        requireUnused(authorizer, nonce);
        requireSigned(
            authorizer,
            keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)),
            signature
        );
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function mint(address to, uint256 amount)
        external whenNotPaused onlyOwner notBlacklisted(to) returns (bool)
    {
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        _mint(to, amount);
        return true;
    }

    function blacklist(address account) external onlyOwner {
        isBlacklisted[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        isBlacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function requireUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    function requireValid(address authorizer, bytes32 nonce, uint256 validAfter, uint256 validBefore) private view {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        requireUnused(authorizer, nonce);
    }

    function use(address authorizer, bytes32 nonce) private {
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationUsed(authorizer, nonce);
    }

    /// By the key of an account without code, else by what the account itself says (ERC-1271), as the real one does.
    function requireSigned(address signer, bytes32 data, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), data));
        if (signer.code.length == 0) {
            require(recover(digest, signature) == signer, "FiatTokenV2: invalid signature");
            return;
        }
        bytes4 magic = 0x1626ba7e;
        (bool ok, bytes memory result) = signer.staticcall(abi.encodeWithSelector(magic, digest, signature));
        require(
            ok && result.length >= 32 && abi.decode(result, (bytes32)) == bytes32(magic),
            "FiatTokenV2: invalid signature"
        );
    }

    function recover(bytes32 digest, bytes memory signature) private pure returns (address signer) {
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        require(
            uint256(s) <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0,
            "ECRecover: invalid signature 's' value"
        );
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "ECRecover: invalid signature");
    }

    function _mint(address to, uint256 amount) private {
        require(to != address(0), "FiatToken: mint to the zero address");
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
