/** Browsers may forbid storage; then what is kept lasts as long as the page. */
function orMemory(pick: () => Storage): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    const storage = pick();
    storage.setItem('probe', '');
    storage.removeItem('probe');
    return storage;
  } catch {
    const kept = new Map<string, string>();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  }
}

/** Lasts as long as the tab. */
export const tabStorage = orMemory(() => sessionStorage);
/** Lasts, for what must survive a tab that a phone has closed. */
export const lastingStorage = orMemory(() => localStorage);
