import { conformance } from '../src/conformance/suite.ts';
import { startBase } from './base-chain.ts';

conformance('Base', startBase, { expiry: true });
