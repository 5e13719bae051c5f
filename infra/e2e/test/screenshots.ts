// Takes the screenshots of the guides: `npm run screenshots` does, while the stack runs.
import './checkout/screenshots.ts';
import './dashboard/screenshots.ts';
