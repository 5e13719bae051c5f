import type { PaymentFilters } from '../api/types.ts';
import { STATE_NAMES, STATES } from './states.ts';
import { networkLabel } from './networks.ts';
import { short } from './money.ts';

/** The filters that have one value each. */
const SINGLE = {
  chain: 'Network',
  token: 'Token',
  direction: 'Direction',
  requestor: 'To wallet',
  fulfiller: 'From wallet',
  reference: 'Reference',
  txSignature: 'Transaction',
  createdAfter: 'Created after',
  createdBefore: 'Created before',
} as const satisfies Partial<Record<keyof PaymentFilters, string>>;
type Single = keyof typeof SINGLE;
const SINGLE_NAMES = Object.keys(SINGLE) as readonly Single[];

/** The filters in the query of a page; what is no filter is left out. */
export function filtersOf(search: URLSearchParams): PaymentFilters {
  const state = STATE_NAMES.filter((name) => search.getAll('state').includes(name));
  const metadata = Object.fromEntries(
    [...search].flatMap(([name, value]) => {
      const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value]];
    }),
  );
  const single = Object.fromEntries(
    SINGLE_NAMES.flatMap((name) => {
      const value = search.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
  return {
    ...single,
    ...(state.length > 0 && { state }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

export interface Chip {
  readonly label: string;
  /** The filters without this one. */
  readonly without: PaymentFilters;
}

/** The filters in words, each with the filters that are left when it is taken away. */
export function chipsOf(filters: PaymentFilters): readonly Chip[] {
  const { state = [], metadata = {} } = filters;
  return [
    ...state.map((name): Chip => {
      const rest = state.filter((other) => other !== name);
      const { state: _, ...others } = filters;
      return { label: STATES[name].label, without: rest.length === 0 ? others : { ...others, state: rest } };
    }),
    ...SINGLE_NAMES.flatMap((name): Chip[] => {
      const value = filters[name];
      if (value === undefined) return [];
      const { [name]: _, ...without } = filters;
      return [{ label: `${SINGLE[name]}: ${shown(name, value)}`, without }];
    }),
    ...Object.entries(metadata).map(([key, value]): Chip => {
      const { [key]: _, ...rest } = metadata;
      const { metadata: __, ...others } = filters;
      return {
        label: `${key} = ${value}`,
        without: Object.keys(rest).length === 0 ? others : { ...others, metadata: rest },
      };
    }),
  ];
}

function shown(name: Single, value: string): string {
  if (name === 'chain') return networkLabel(value);
  if (name === 'direction') return value === 'request' ? 'requested' : 'sent';
  if (name === 'createdAfter' || name === 'createdBefore') return new Date(value).toLocaleString('en');
  return short(value);
}
