const STORAGE = 'parley.key'

/**
 * The API key of this tab; null: none. A key in the fragment of the address (`/console#key=…`, as `npm start` prints it) is stored
 * and removed from the address; fragments are never sent to a server.
 */
export function storedKey(): string | null {
  const given = new URLSearchParams(window.location.hash.slice(1)).get('key')
  if (given !== null) {
    sessionStorage.setItem(STORAGE, given)
    window.history.replaceState(null, '', `${window.location.pathname}${window.location.search}`)
  }
  return sessionStorage.getItem(STORAGE)
}

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORAGE)
  else sessionStorage.setItem(STORAGE, key)
}
