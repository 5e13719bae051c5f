import type { InputTopic, Topic } from './port.ts';

/** Every topic in the cluster: those with messages, and the one whose records only tell the brokers' time. */
export type TopicName = Topic | 'service.clock';

export const TOPIC_NAMES: readonly TopicName[] = [
  'intent.commands',
  'chain.observations',
  'intent.events',
  'intent.dead',
  'service.clock',
];
export const INPUT_TOPICS: readonly InputTopic[] = ['intent.commands', 'chain.observations'];
export const isInputTopic = (topic: Topic): topic is InputTopic =>
  topic === 'intent.commands' || topic === 'chain.observations';
/** The group of the partitions' owners. */
export const OWNER_GROUP = 'intent';

/** The names of topics, groups and writers in the cluster, with the prefix of the stack or test. */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  topic(topic: TopicName): string {
    return this.#prefix + topic;
  }

  group(name: string): string {
    return this.#prefix + name;
  }

  /** One id per partition in all processes: a process that takes the id fences the one that had it. */
  transactionalId(partition: number): string {
    return `${this.#prefix}intent-writer-${partition}`;
  }

  /** The id of a process, to which it delegates its partitions; never that of a partition. */
  delegateId(unique: string): string {
    return `${this.#prefix}intent-writer-of-${unique}`;
  }

  isDelegateId(id: string): boolean {
    return id.startsWith(this.delegateId(''));
  }
}
