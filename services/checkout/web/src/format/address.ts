const GROUP = 4;

/** An address in groups, which people can compare; never shortened, because look-alikes share its ends. */
export function grouped(address: string): readonly string[] {
  const prefix = address.startsWith('0x') ? '0x' : '';
  const rest = address.slice(prefix.length);
  const groups = rest.match(new RegExp(`.{1,${GROUP}}`, 'gs')) ?? [];
  return prefix === '' ? groups : [prefix + (groups[0] ?? ''), ...groups.slice(1)];
}
