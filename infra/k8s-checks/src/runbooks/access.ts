import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

/** What a user may do with a resource of Kafka. */
export interface KafkaRight {
  readonly user: string;
  readonly resource: {
    readonly type: 'topic' | 'group' | 'transactionalId' | 'cluster';
    readonly name?: string;
    readonly patternType?: 'literal' | 'prefix';
  };
  /** `Describe`, `Read` and the like. */
  readonly operation: string;
}

interface KafkaUser {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly authorization: {
      readonly acls: readonly (Pick<KafkaRight, 'resource'> & { readonly operations: readonly string[] })[];
    };
  };
}

/** The rights of all users in k8s/components/strimzi/users.yaml. */
export function kafkaRights(root: string): readonly KafkaRight[] {
  const users = parseAllDocuments(readFileSync(path.join(root, 'k8s/components/strimzi/users.yaml'), 'utf8'));
  return users
    .map((document) => document.toJS() as KafkaUser)
    .flatMap(({ metadata: { name: user }, spec }) =>
      spec.authorization.acls.flatMap(({ resource, operations }) =>
        operations.map((operation) => ({ user, resource, operation })),
      ),
    );
}
