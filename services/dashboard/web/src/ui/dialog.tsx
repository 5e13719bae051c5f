import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { type Fields, Form } from './form.tsx';

/** A window over the page. Focus stays in it, and returns to where it was. */
export function Dialog({
  title,
  wide = false,
  dismissable = true,
  onClose,
  children,
}: {
  readonly title: string;
  readonly wide?: boolean;
  /** Whether Escape and a click beside it close it: not where something is shown only once. */
  readonly dismissable?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <ModalOverlay
      isOpen
      className="backdrop"
      isDismissable={dismissable}
      isKeyboardDismissDisabled={!dismissable}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className={wide ? 'dialog wide' : 'dialog'}>
        <AriaDialog className="stack">
          <div className="row apart">
            <Heading slot="title">{title}</Heading>
            {dismissable && <Button look="quiet" icon={<X size={18} />} aria-label="Close" onPress={onClose} />}
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Asks before something happens that cannot be undone, and says what it will do. */
export function Confirm({
  title,
  submit,
  run,
  onClose,
  children,
}: {
  readonly title: string;
  /** The verb and its object: "Revoke key". */
  readonly submit: string;
  readonly run: (fields: Fields) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        look="danger"
        submit={submit}
        run={async (fields) => {
          await run(fields);
          onClose();
        }}
        cancel={
          // What harms nothing has the focus.
          <Button autoFocus onPress={onClose}>
            Go back
          </Button>
        }
      >
        <div className="stack tight">{children}</div>
      </Form>
    </Dialog>
  );
}

/** A button that opens a window. */
export function DialogButton({
  label,
  look = 'plain',
  icon,
  describedBy,
  children,
}: {
  readonly label: string;
  readonly look?: 'plain' | 'main' | 'danger' | 'quiet';
  readonly icon?: ReactNode;
  /** A longer name for screen readers, where several buttons have this label. */
  readonly describedBy?: string;
  readonly children: (close: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        look={look}
        icon={icon}
        {...(describedBy !== undefined && { 'aria-label': describedBy })}
        onPress={() => setOpen(true)}
      >
        {label}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}
