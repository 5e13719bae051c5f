import { ImageUp } from 'lucide-react';
import { type CSSProperties, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import type { Of } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useTask } from '../../ui/task.ts';

type Shown = Of<'getSettings'>['settings']['branding'];

const DEFAULT_COLOR = '#4f46e5';
const PNG = 'data:image/png;base64,';

/** The name, logo, color and support link that payers see, with a picture of it. */
export function Branding({
  name: accountName,
  branding,
  onSave,
}: {
  /** Of the account. */
  readonly name: string;
  readonly branding: Shown;
  readonly onSave: (changes: Shown) => Promise<void>;
}) {
  const [name, setName] = useState(branding.name ?? '');
  const [logo, setLogo] = useState(branding.logo ?? '');
  const [color, setColor] = useState(branding.accentColor ?? '');
  const isUploaded = logo.startsWith(PNG);
  const [upload] = useTask(async (files: FileList | null) => {
    const file = files?.[0];
    if (file) setLogo(await dataUrl(file));
  });
  return (
    <div className="halves">
      <div className="card">
        <Form
          submit="Save branding"
          look="plain"
          run={(field) =>
            onSave({
              name: name.trim() || null,
              logo: logo.trim() || null,
              accentColor: color.trim() || null,
              supportUrl: field('branding.supportUrl').trim() || null,
            })
          }
        >
          <Field
            label="Name"
            name="branding.name"
            maxLength={60}
            value={name}
            onChange={setName}
            placeholder={accountName}
          />
          <div className="stack tight">
            <Field
              label="Logo"
              name="branding.logo"
              value={isUploaded ? 'An uploaded image' : logo}
              isReadOnly={isUploaded}
              onChange={setLogo}
              placeholder="https://shop.example/logo.png"
              hint="A link, or a PNG image of at most 32 KiB."
            />
            <div className="row">
              <FileTrigger acceptedFileTypes={['image/png']} onSelect={upload}>
                <Button icon={<ImageUp size={16} aria-hidden />}>Upload a PNG</Button>
              </FileTrigger>
              {logo !== '' && <Button onPress={() => setLogo('')}>Remove the logo</Button>}
            </div>
          </div>
          <div className="color-field">
            <Field
              label="Accent color"
              name="branding.accentColor"
              mono
              maxLength={7}
              value={color}
              onChange={setColor}
              placeholder={DEFAULT_COLOR}
              hint="White text must be readable on it."
            />
            <input
              type="color"
              aria-label="Choose the accent color"
              value={/^#[0-9a-f]{6}$/i.test(color) ? color : DEFAULT_COLOR}
              onChange={(event) => setColor(event.target.value)}
            />
          </div>
          <Field
            label="Support link"
            name="branding.supportUrl"
            type="url"
            defaultValue={branding.supportUrl ?? ''}
            placeholder="https://shop.example/help"
            hint="For payers whose payment went wrong."
          />
        </Form>
      </div>
      <Preview name={name.trim() || accountName} logo={logo} color={color} />
    </div>
  );
}

/** What a payer sees, roughly. */
const Preview = ({ name, logo, color }: { readonly name: string; readonly logo: string; readonly color: string }) => (
  <figure className="brand-preview" style={{ '--brand': color || DEFAULT_COLOR } as CSSProperties}>
    <figcaption className="muted small">What payers see</figcaption>
    <div className="card stack">
      <div className="row">
        {logo === '' ? (
          <span className="brand-letter" aria-hidden>
            {name.charAt(0)}
          </span>
        ) : (
          <img className="logo" src={logo} alt="Your logo" />
        )}
        <strong className="wrap">{name}</strong>
      </div>
      <p className="figure number">
        12.50 <small>USDC</small>
      </p>
      <span className="brand-button">Pay</span>
    </div>
  </figure>
);

const dataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'));
    reader.readAsDataURL(file);
  });
