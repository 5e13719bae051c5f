// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A contract whose effects have nothing to do with the calldata that it is sent: it does what it was told before. It
/// plays every wrapper, honest or not, in tests.
contract Puppet {
    struct Step {
        address target;
        bytes data;
        bool mayFail;
        /// When there are any, the step is no call, but a log with `data`.
        bytes32[] topics;
    }

    bytes private script;

    function learn(Step[] calldata steps) external {
        script = abi.encode(steps);
    }

    fallback() external {
        Step[] memory steps = abi.decode(script, (Step[]));
        for (uint256 i = 0; i < steps.length; i++) {
            Step memory step = steps[i];
            if (step.topics.length > 0) {
                write(step.topics, step.data);
                continue;
            }
            (bool ok, ) = step.target.call(step.data);
            require(ok || step.mayFail, "a step failed");
        }
    }

    function write(bytes32[] memory topics, bytes memory data) private {
        bytes32[4] memory all;
        for (uint256 i = 0; i < topics.length; i++) all[i] = topics[i];
        uint256 count = topics.length;
        assembly {
            switch count
            case 1 { log1(add(data, 32), mload(data), mload(all)) }
            case 2 { log2(add(data, 32), mload(data), mload(all), mload(add(all, 32))) }
            case 3 { log3(add(data, 32), mload(data), mload(all), mload(add(all, 32)), mload(add(all, 64))) }
            default {
                let last := mload(add(all, 96))
                log4(add(data, 32), mload(data), mload(all), mload(add(all, 32)), mload(add(all, 64)), last)
            }
        }
    }
}
