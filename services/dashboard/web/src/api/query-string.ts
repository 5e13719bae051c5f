type Scalar = string | number | boolean | null | undefined;

/** A query as the APIs read it: `?state=created&state=pending&metadata[order]=A-1`. Empty if there is nothing in it. */
export function queryString(query: object): string {
  const search = new URLSearchParams();
  const add = (name: string, value: Scalar): void => {
    if (value !== undefined && value !== null && value !== '') search.append(name, String(value));
  };
  for (const [name, value] of Object.entries(query) as [string, Scalar | Scalar[] | Record<string, Scalar>][]) {
    if (Array.isArray(value)) value.forEach((item) => add(name, item));
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item);
    else add(name, value);
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
