import { conformance } from '../conformance/suite.ts';
import { startSolana } from './chain.ts';

conformance('Solana', startSolana);
