import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';

/** A text that is shown only once, to be copied. @param of what it is, for screen readers: "the key" */
export function Once({ text, of }: { readonly text: string; readonly of: string }) {
  return (
    <div className="once">
      <code className="wrap">{text}</code>
      <Copy text={text} of={of} label="Copy" />
    </div>
  );
}

/** A window with a text that is shown only once. It closes when the person says that they have copied it. */
export const OnceDialog = ({
  title,
  text,
  of,
  onClose,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly of: string;
  readonly onClose: () => void;
  /** What the text is good for. */
  readonly children: ReactNode;
}) => (
  <Dialog title={title} dismissable={false} onClose={onClose}>
    <Notice kind="warn">It is shown only once. {children}</Notice>
    <Once text={text} of={of} />
    <div className="row actions">
      <Button look="main" onPress={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
);
