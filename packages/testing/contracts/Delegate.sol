// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The code of an account as ERC-7821 and ERC-7579 describe it, reduced to its execution modes: EOAs delegate to it
/// (EIP-7702). For tests.
contract Delegate {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    error Unauthorized();
    error UnsupportedMode();

    receive() external payable {}

    function execute(bytes32 mode, bytes calldata executionData) external payable {
        if (msg.sender != address(this)) revert Unauthorized();
        bytes1 callType = mode[0];
        bool mayFail = mode[1] == 0x01;
        if (callType == 0x00) {
            (address to, uint256 value) = (address(bytes20(executionData)), uint256(bytes32(executionData[20:52])));
            run(to, value, executionData[52:], mayFail);
        } else if (callType != 0x01) {
            revert UnsupportedMode();
        } else if (bytes4(mode << 48) == 0x78210002) {
            bytes[] memory batches = abi.decode(executionData, (bytes[]));
            for (uint256 i = 0; i < batches.length; i++) runAll(abi.decode(batches[i], (Call[])), mayFail);
        } else {
            runAll(abi.decode(executionData, (Call[])), mayFail);
        }
    }

    /// ERC-1271: what the account's own key has signed. Like many wallets it has more in a signature than the key's 65
    /// bytes: the first 20 say whose key it is.
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 85 || address(bytes20(signature)) != address(this)) return 0xffffffff;
        address signer = ecrecover(
            digest,
            uint8(signature[84]),
            bytes32(signature[20:52]),
            bytes32(signature[52:84])
        );
        return signer == address(this) ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function runAll(Call[] memory calls, bool mayFail) private {
        for (uint256 i = 0; i < calls.length; i++) run(calls[i].to, calls[i].value, calls[i].data, mayFail);
    }

    function run(address to, uint256 value, bytes memory data, bool mayFail) private {
        (bool ok, bytes memory result) = (to == address(0) ? address(this) : to).call{value: value}(data);
        if (!ok && !mayFail) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
    }
}
