import { count, type Option } from '@pf/local/command';

/** Of a system of its own: one broker, or three. */
export const BROKERS: Option<1 | 3> = {
  about: 'Kafka brokers',
  takes: '1|3',
  otherwise: 1,
  read: (text) => {
    if (text !== '1' && text !== '3') throw new Error(`"${text}" is neither 1 nor 3.`);
    return text === '1' ? 1 : 3;
  },
};

const SEED_MOST = 2 ** 31 - 1;
/** Of everything that is random; another each time where it is not given. */
export const SEED = count('Of what is random', Math.floor(Math.random() * SEED_MOST), { least: 0, most: SEED_MOST });
