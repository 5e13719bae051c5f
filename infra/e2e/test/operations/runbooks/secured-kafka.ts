import type { AclEntry } from 'kafkajs';
import kafkajs from 'kafkajs';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import { kafkaRights } from '../../../../k8s-checks/src/runbooks/access.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;
const ADMIN = 'admin';
const LOGIN = 'org.apache.kafka.common.security';

const RESOURCES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  transactionalId: AclResourceTypes.TRANSACTIONAL_ID,
  cluster: AclResourceTypes.CLUSTER,
} as const;

/** `DescribeConfigs` is DESCRIBE_CONFIGS there. */
const operationOf = (name: string): number =>
  AclOperationTypes[name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as keyof typeof AclOperationTypes];

/**
 * A broker whose users have the rights of k8s/components/strimzi/users.yaml and no others. It has no TLS.
 * @param passwords by user; the mechanism is `plain`
 */
export async function startSecuredKafka(
  root: string,
  folder: string,
  passwords: Readonly<Record<string, string>>,
): Promise<Brokers> {
  const users = [
    `username="${ADMIN}" password="${ADMIN}"`,
    ...Object.entries({ ...passwords, [ADMIN]: ADMIN }).map(([name, value]) => `user_${name}="${value}"`),
  ];
  const brokers = await startBrokers({
    count: 1,
    folder,
    properties: {
      'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:SASL_PLAINTEXT',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-512',
      'sasl.mechanism.inter.broker.protocol': 'PLAIN',
      'listener.name.plaintext.plain.sasl.jaas.config': `${LOGIN}.plain.PlainLoginModule required ${users.join(' ')};`,
      'listener.name.plaintext.scram-sha-512.sasl.jaas.config': `${LOGIN}.scram.ScramLoginModule required;`,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      // The controller's listener, which only the broker itself knows, asks for no name.
      'super.users': `User:${ADMIN};User:ANONYMOUS`,
    },
  });
  const admin = new kafkajs.Kafka({
    brokers: brokers.addresses.split(','),
    clientId: 'test',
    logLevel: kafkajs.logLevel.NOTHING,
    sasl: { mechanism: 'plain', username: ADMIN, password: ADMIN },
  }).admin();
  await admin.connect();
  const acl = kafkaRights(root).map(
    ({ user, resource: { type, name = 'kafka-cluster', patternType = 'literal' }, operation }): AclEntry => ({
      principal: `User:${user}`,
      host: '*',
      permissionType: AclPermissionTypes.ALLOW,
      resourceType: RESOURCES[type],
      resourceName: name,
      resourcePatternType: patternType === 'prefix' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
      operation: operationOf(operation),
    }),
  );
  await admin.createAcls({ acl });
  await admin.disconnect();
  return brokers;
}
