/** The length of a password, in characters. A long one needs no digits and signs (NIST SP 800-63B). */
export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;
/** How many accounts a person may be a member of. */
export const ACCOUNTS_MAX = 20;
/** How many members an account may have, open invitations included. */
export const MEMBERS_MAX = 100;
/** How many keys an account may have in a mode that are neither revoked nor expired. */
export const KEYS_MAX = 50;
/** How many personal tokens a person may have that are neither revoked nor expired. */
export const TOKENS_MAX = 20;
/** How long a personal token is valid: unless its request says otherwise, and at most. */
export const TOKEN_DAYS = { usual: 90, max: 366 } as const;
/** How many passkeys a person may have. */
export const PASSKEYS_MAX = 20;
/** How long a person may take to use or to make a passkey. */
export const PASSKEY_SECONDS = 600;
/** How long a person may take to sign in at the identity provider. */
export const OIDC_SECONDS = 900;
/** How long a program waits for a person to approve it. */
export const DEVICE_SECONDS = 600;
/** How long an invitation can be accepted. */
export const INVITATION_DAYS = 7;
