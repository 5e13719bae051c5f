import { readFileSync } from 'node:fs';
import { z } from 'zod';

const variables = z.record(z.string(), z.string());
const schema = z.object({
  /** The folder with the jars of Kafka. */
  jars: z.string(),
  brokers: z.string(),
  /** In place of a broker's /tmp. */
  brokerFolder: z.string(),
  /** The program of the image. */
  image: z.string(),
  /** Of pods by the names of their workloads. */
  environments: z.record(z.string(), variables),
  /** `secret/NAME/KEY` and `configmap/NAME/KEY`. */
  values: variables,
  /** What pods have that is elsewhere here, such as a volume. */
  replaced: variables,
  /** Of another role than the operator's. */
  victimUrl: z.string(),
  /** Commands that may be refused here, by a part of them, with a part of what they say then. */
  refused: variables,
});
/** What the programs that stand for kubectl and psql work with. */
export type Surroundings = z.infer<typeof schema>;

/** The variable with the file of the surroundings. */
export const SURROUNDINGS = 'RUNBOOK_SURROUNDINGS';
export const readSurroundings = (): Surroundings =>
  schema.parse(JSON.parse(readFileSync(process.env[SURROUNDINGS] ?? '', 'utf8')));
