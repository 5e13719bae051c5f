import type { ChainId, TokenAddress, TransactionFormat } from '@pf/domain';
import type { Network, Token } from './port.ts';

/**
 * The registry: every network the API knows and the tokens it can be paid in there, canonical as they stand (EIP-55 or
 * base58; a test checks them). A network is served only where upstreams are configured for it. What is here stays here,
 * or intents of old would be missing from lists by chain and token.
 */

const token = (symbol: string, address: string): Token => ({ symbol, address: address as TokenAddress, decimals: 6 });

const network = (
  chain: string,
  name: string,
  family: Network['family'],
  livemode: boolean,
  format: TransactionFormat,
  tokens: readonly Token[],
): Network => ({
  chain: chain as ChainId,
  name,
  family,
  livemode,
  format,
  tokens,
});

export const networks: readonly Network[] = [
  network('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'solana', 'solana', true, 'solana_v0_message', [
    token('USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
    token('USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
    token('PYUSD', '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo'),
  ]),
  network('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana-devnet', 'solana', false, 'solana_v0_message', [
    token('USDC', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
    token('PYUSD', 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM'),
  ]),
  network('eip155:8453', 'base', 'base', true, 'evm_rlp', [
    token('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    token('EURC', '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42'),
    token('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'),
  ]),
  network('eip155:84532', 'base-sepolia', 'base', false, 'evm_rlp', [
    token('USDC', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'),
    token('EURC', '0x808456652fdb597867f38412077A9182bf77359F'),
  ]),
  network('eip155:4217', 'tempo', 'tempo', true, 'tempo_tip20', [
    token('pathUSD', '0x20C0000000000000000000000000000000000000'),
    token('USDC', '0x20C000000000000000000000b9537d11c60E8b50'),
    token('USDT', '0x20C00000000000000000000014f22CA97301EB73'),
    token('EURC', '0x20c0000000000000000000001621e21F71CF12fb'),
  ]),
  network('eip155:42431', 'tempo-moderato', 'tempo', false, 'tempo_tip20', [
    token('pathUSD', '0x20C0000000000000000000000000000000000000'),
    token('AlphaUSD', '0x20C0000000000000000000000000000000000001'),
    token('BetaUSD', '0x20C0000000000000000000000000000000000002'),
    token('ThetaUSD', '0x20C0000000000000000000000000000000000003'),
    token('USDC', '0x20C0000000000000000000009e8d7eB59B783726'),
  ]),
];
