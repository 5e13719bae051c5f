import { conformance } from '../src/conformance/suite.ts';
import { startSolana } from './solana-chain.ts';

conformance('Solana', startSolana);
