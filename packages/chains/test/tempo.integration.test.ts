import { conformance } from '../src/conformance/suite.ts';
import { startTempoUnderTest } from './tempo-chain.ts';

conformance('Tempo', startTempoUnderTest, { finalityGap: true });
