// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// What USDC and EURC look like to a payer and to a watcher, for the local Base chains: the interface, the six
/// decimals and the reasons to revert of Circle's FiatToken v2.2, without its proxy, minters' allowances and permit.
/// It has no constructor: its code is put at the real token's address, then initialize() is called once.
contract Stablecoin {
    string public name;
    string public symbol;
    string public currency;
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    address public owner;
    bool public paused;

    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlacklisted;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
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
