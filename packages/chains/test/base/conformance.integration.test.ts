import { conformance } from '../conformance/suite.ts';
import { startBase } from './chain.ts';

conformance('Base', startBase, { expiry: true });
