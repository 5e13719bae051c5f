import type {
  AccountId,
  Address,
  ChainId,
  CommandId,
  CreateData,
  IntentId,
  Landing,
  PreparedTransaction,
  Reference,
  TokenAddress,
  TransactionHash,
  Transfer,
  UnsignedTransaction,
} from '../index.ts';

/** The samples of all scenarios: Alice requests 12.50 USDC on Base Sepolia, Bob or Carol pays. */
export const ACCOUNT = 'acc_alice' as AccountId;
export const OTHER_ACCOUNT = 'acc_other' as AccountId;
export const COMMAND = 'cmd_1' as CommandId;
export const INTENT = 'pi_1original' as IntentId;
export const REFUND = 'pi_2refund' as IntentId;
export const SUCCESSOR = 'pi_3successor' as IntentId;
export const ALICE = '0xA11ce00000000000000000000000000000000001' as Address;
export const BOB = '0xB0b0000000000000000000000000000000000002' as Address;
export const CAROL = '0xCa20100000000000000000000000000000000003' as Address;
export const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as TokenAddress;
export const EURC = '0x808456652fdb597867f38412077A9182bf77359F' as TokenAddress;
export const BASE_SEPOLIA = 'eip155:84532' as ChainId;
export const AMOUNT = 12_500_000n;
export const TTL_SECONDS = 3600;
/** The time of the first event of every scenario. */
export const SCENARIO_START = Date.UTC(2026, 10, 21, 12);

const bytes32 = (digits: string): string => `0x${digits.padStart(64, '0')}`;
export const REFERENCE = bytes32('1') as Reference;
/** The reference of each intent. */
export const referenceOf = (id: IntentId): Reference =>
  id === INTENT ? REFERENCE : (bytes32(id === REFUND ? '2' : '3') as Reference);

/** What a watcher observes in place of a reference that it cannot prove. */
export const UNPROVEN: Partial<Transfer> = { reference: bytes32('0') as Reference };

/** Transaction hashes, named by what their transactions do. */
export const FIRST = bytes32('a1') as TransactionHash;
export const SECOND = bytes32('a2') as TransactionHash;
/** Broadcast by a wallet itself: the service did not know it before it landed. */
export const UNKNOWN = bytes32('a3') as TransactionHash;
export const REFUNDING = bytes32('b1') as TransactionHash;
export const REFUNDING_AGAIN = bytes32('b2') as TransactionHash;
export const SYNTHETIC = bytes32('51') as TransactionHash;

export const request = (change: Partial<CreateData> = {}): CreateData => ({
  idempotencyKey: null,
  chain: BASE_SEPOLIA,
  token: 'USDC',
  tokenAddress: USDC,
  decimals: 6,
  amount: '12.50',
  amountBaseUnits: AMOUNT,
  requestor: ALICE,
  fulfiller: null,
  direction: 'request',
  reference: REFERENCE,
  ttlSeconds: TTL_SECONDS,
  metadata: null,
  ...change,
});

/** The data of a refund: requestor and fulfiller swapped. */
export const refundRequest = (id: IntentId): CreateData =>
  request({ requestor: BOB, fulfiller: ALICE, direction: 'send', reference: referenceOf(id) });

export const unsigned = (blob: string): UnsignedTransaction => ({
  blob,
  format: 'evm_rlp',
  ataRentLamports: null,
  estimatedFeeLamports: null,
  estimatedFeeUsdc: null,
  estimatedFeeEth: '0.000001',
});

/** A transaction of Bob's, with nonce 7, that pays Alice's intent. */
export const signed = (hash: TransactionHash, change: Partial<PreparedTransaction> = {}): PreparedTransaction => ({
  hash,
  sender: BOB,
  nonce: '7',
  lifetime: { kind: 'unlimited' },
  terms: { chain: BASE_SEPOLIA, tokenAddress: USDC, amount: AMOUNT, requestor: ALICE, reference: REFERENCE },
  ...change,
});

/** A transaction of Alice's that pays Bob back. */
export const signedRefund = (id: IntentId, hash: TransactionHash): PreparedTransaction =>
  signed(hash, {
    sender: ALICE,
    terms: { chain: BASE_SEPOLIA, tokenAddress: USDC, amount: AMOUNT, requestor: BOB, reference: referenceOf(id) },
  });

/** Bob pays Alice, in block 100, as log 0. */
export const transfer = (change: Partial<Transfer> = {}): Transfer => ({
  tokenAddress: USDC,
  from: BOB,
  to: ALICE,
  amount: AMOUNT,
  reference: REFERENCE,
  block: 100n,
  blockHash: bytes32('100'),
  index: '0',
  ...change,
});

export const landing = (hash: TransactionHash, change: Partial<Transfer> = {}): Landing => ({
  hash,
  transfer: transfer(change),
});

/** Alice pays Bob back. */
export const refundTransfer = (id: IntentId): Partial<Transfer> => ({
  from: ALICE,
  to: BOB,
  reference: referenceOf(id),
});

/** The place of the same transfer after a reorg has put its transaction into another block, behind other logs. */
export const MOVED: Partial<Transfer> = { block: 101n, blockHash: bytes32('101'), index: '4' };
