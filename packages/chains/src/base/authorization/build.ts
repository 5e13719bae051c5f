import { refusable, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { balanceOf } from '../../evm/account.ts';
import { callContract, getHead } from '../../evm/calls.ts';
import type { NewestHead } from '../../newest-head.ts';
import type { AuthorizationResult, BuildRequest } from '../../port.ts';
import { refusalOfBalance, refusalOfTransfer } from '../build.ts';
import { encodePayment } from '../calldata.ts';
import { askDomain, askState, domainIn, stateIn, typedDataOf } from './eip3009.ts';
import { validBefore } from './lifetime.ts';

/** What the fulfiller signs to pay these terms without gas, from the state of one upstream. */
export async function buildAuthorization(
  node: RpcNode,
  request: BuildRequest,
  blocks: NewestHead,
): Promise<AuthorizationResult> {
  const { terms, fulfiller, expiresAt } = request;
  const { tokenAddress: token, requestor, amount, reference } = terms;
  const [name, version, separator, used, head, balance, transfer] = await node.batch([
    ...askDomain(token, fulfiller),
    askState(token, fulfiller, reference),
    getHead(),
    refusable(callContract({ from: fulfiller, to: token, data: balanceOf(fulfiller) })),
    refusable(callContract({ from: fulfiller, to: token, data: encodePayment(requestor, amount, reference) })),
  ]);
  if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
  const domain = domainIn(terms, [name, version, separator]);
  const isUsed = stateIn(used);
  if (domain === null || isUsed === null) return { kind: 'unsupported' };
  if (isUsed)
    return {
      kind: 'rejected',
      reason: 'this wallet has used or cancelled its authorization for this payment intent: pay by a transaction',
    };
  const refusal =
    refusalOfBalance(terms, balance) ??
    (transfer instanceof RpcRefusedError ? await refusalOfTransfer(node, request, transfer) : null);
  blocks.saw(head.number);
  if (refusal !== null) {
    // A node that is behind may not have the money.
    blocks.requireReached(node, head.number);
    return refusal;
  }
  const end = validBefore(head.timestamp, expiresAt);
  if (end <= head.timestamp)
    return { kind: 'rejected', reason: 'the payment intent ends before a payment could be in a block' };
  return {
    kind: 'built',
    typedData: typedDataOf(domain, {
      from: fulfiller,
      to: requestor,
      value: amount.toString(),
      validAfter: '0',
      validBefore: end.toString(),
      nonce: reference,
    }),
  };
}
