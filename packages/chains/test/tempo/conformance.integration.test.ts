import { conformance } from '../conformance/suite.ts';
import { startTempoUnderTest } from './chain.ts';

conformance('Tempo', startTempoUnderTest, { finalityGap: true });
