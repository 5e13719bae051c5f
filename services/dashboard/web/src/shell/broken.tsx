import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';

interface State {
  readonly error: unknown;
}

/** In the place of a page that could not be drawn. */
export class Broken extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    // A part of the application that is no longer on the server, after an update.
    const isOld = error instanceof TypeError && /import|module|fetch/i.test(error.message);
    return (
      <main className="lonely stack">
        <h1>{isOld ? 'There is a new version' : 'This page has broken'}</h1>
        <p className="muted">
          {isOld
            ? 'The dashboard was updated while you used it. Reload the page to go on.'
            : 'The fault is ours. Nothing that you had saved is lost. Reload the page to go on.'}
        </p>
        <div>
          <Button look="main" onPress={() => location.reload()}>
            Reload
          </Button>
        </div>
      </main>
    );
  }
}
