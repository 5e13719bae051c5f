/** The mark and the name of the application. */
export const Brand = () => (
  <span className="brand">
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden>
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path
        d="M10 23V9h7a4.5 4.5 0 0 1 0 9h-7"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
    Payments
  </span>
);
