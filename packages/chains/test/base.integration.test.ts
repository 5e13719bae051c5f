import { conformance } from './conformance.ts';
import { startBase } from './base-chain.ts';

conformance('Base', startBase);
