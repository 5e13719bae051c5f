import { grouped } from '../format/address.ts';
import { Copy } from './copy.tsx';

/** A whole address, number or hash, in groups that people can compare, and a button that copies it. */
export function Address({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <span class="address">
      <bdi class="groups" dir="ltr" translate={false}>
        {/* Screen readers and the clipboard get it in one piece. */}
        <span aria-hidden="true">
          {grouped(value).map((group, index) => (
            <span key={index}>{group}</span>
          ))}
        </span>
        <span class="hidden">{value}</span>
      </bdi>
      <Copy text={value} what={what} />
    </span>
  );
}
