// A facilitator of x402, made of x402's own packages: it verifies an authorization, and pays the gas of its settlement.
// How honest it is, the path says. Run as a process of its own, with RPC_URL, CHAIN_ID and PRIVATE_KEY.
import { randomBytes } from 'node:crypto';
import { x402Facilitator } from '@x402/core/facilitator';
import type { Network, VerifyRequest } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Answer, serve } from './serve.ts';

const { RPC_URL = '', CHAIN_ID = '', PRIVATE_KEY = '' } = process.env;
const account = privateKeyToAccount(PRIVATE_KEY as Hex);
const network: Network = `eip155:${CHAIN_ID}`;
const chain = {
  id: Number(CHAIN_ID),
  name: 'local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [RPC_URL] } },
};
const client = createWalletClient({ account, chain, transport: http(RPC_URL) }).extend(publicActions);
const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as never);
const facilitator = new x402Facilitator().register(network, new ExactEvmScheme(signer));

const answer = (body: object): Answer => ({ status: 200, body: { ...body } });
serve<VerifyRequest>({
  '/verify': async ({ paymentPayload, paymentRequirements }) =>
    answer(await facilitator.verify(paymentPayload, paymentRequirements)),
  '/settle': async ({ paymentPayload, paymentRequirements }) =>
    answer(await facilitator.settle(paymentPayload, paymentRequirements)),
  '/lies/settle': async () => answer({ success: true, transaction: `0x${randomBytes(32).toString('hex')}`, network }),
});
