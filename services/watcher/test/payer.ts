import { randomBytes } from 'node:crypto';
import { newIntentId } from '@pf/contracts';
import type {
  Address,
  EventData,
  Instant,
  IntentId,
  PreparedTransaction,
  Reference,
  TokenAddress,
  TransactionHash,
} from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { type Anvil } from '@pf/testing/chains';
import { evmWallet } from '@pf/testing/wallets';
import { type Hex, hexToBytes, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { IntentLog } from './intent-log.ts';

/** An intent of a test, paid to a wallet of its own. */
export interface Requested {
  readonly id: IntentId;
  readonly terms: PreparedTransaction['terms'];
}

/** Appends a new intent of 1 USDC (or `amount` base units) to the log, as if it had been made at that time. */
export async function request(
  writer: IntentLog,
  chain: Anvil,
  amount = 1_000_000n,
  at: Instant = Date.now(),
): Promise<Requested> {
  const id = newIntentId(0);
  const data: EventData['intent.created'] = {
    ...samples.request({
      chain: chain.caip2 as PreparedTransaction['terms']['chain'],
      tokenAddress: chain.tokens['USDC'] as TokenAddress,
      reference: `0x${randomBytes(32).toString('hex')}` as Reference,
      requestor: privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`).address as string as Address,
      amountBaseUnits: amount,
    }),
    accountId: samples.ACCOUNT,
    livemode: false,
    refundOf: null,
  };
  const intent = await writer.append(id, 'intent.created', data, at);
  return {
    id,
    terms: {
      chain: intent.chain,
      tokenAddress: intent.tokenAddress,
      amount,
      requestor: intent.requestor,
      reference: intent.reference,
    },
  };
}

/** A wallet that signs without asking the node for anything but its nonce. */
export class Payer {
  readonly #chain: Anvil;
  readonly #account: ReturnType<typeof privateKeyToAccount>;
  readonly #wallet: ReturnType<typeof evmWallet>;

  constructor(chain: Anvil, index: number) {
    const wallet = chain.wallets[index];
    if (!wallet) throw new Error(`the chain has no wallet ${index}`);
    this.#chain = chain;
    this.#account = privateKeyToAccount(wallet.privateKey as Hex);
    this.#wallet = evmWallet(chain, wallet);
  }

  get address(): Address {
    return this.#account.address as string as Address;
  }

  /** Pays an intent by itself: the service is told nothing. */
  async pay({ terms }: Requested): Promise<TransactionHash> {
    return (await this.#wallet.transfer(
      terms.tokenAddress,
      terms.requestor,
      terms.amount,
      terms.reference as string as Hex,
    )) as string as TransactionHash;
  }

  /** Signs a payment as `submit` would get it. */
  async sign({ terms }: Requested): Promise<{ prepared: PreparedTransaction; raw: Uint8Array }> {
    const nonce = await this.#nonce();
    const word = (hex: string): string => hex.padStart(64, '0');
    const to = word(terms.requestor.slice(2).toLowerCase());
    const data: Hex = `0xa9059cbb${to}${word(terms.amount.toString(16))}${terms.reference.slice(2)}`;
    const raw = await this.#sign(nonce, terms.tokenAddress as string as Hex, data);
    return {
      prepared: {
        hash: keccak256(raw) as string as TransactionHash,
        sender: this.address,
        nonce: nonce.toString(),
        lifetime: { kind: 'unlimited' },
        terms,
      },
      raw: hexToBytes(raw),
    };
  }

  async send(raw: Uint8Array): Promise<void> {
    await this.#chain.rpc('eth_sendRawTransaction', `0x${Buffer.from(raw).toString('hex')}`);
  }

  /** Uses up the next nonce for something else. */
  async burnNonce(): Promise<void> {
    await this.send(hexToBytes(await this.#sign(await this.#nonce(), this.#account.address, '0x')));
  }

  async #nonce(): Promise<number> {
    return Number(await this.#chain.rpc<Hex>('eth_getTransactionCount', this.address, 'pending'));
  }

  #sign(nonce: number, to: Hex, data: Hex): Promise<Hex> {
    return this.#account.signTransaction({
      type: 'eip1559',
      chainId: Number(this.#chain.caip2.split(':')[1]),
      nonce,
      to,
      data,
      value: 0n,
      gas: 200_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
  }
}
