import type { Route } from '../routes.ts'

/** After `g`, a letter goes to a page. */
const PAGES: Readonly<Record<string, Route>> = {
  r: { page: 'runs' },
  l: { page: 'live' },
  a: { page: 'agents' },
  e: { page: 'evaluation' },
  t: { page: 'telephony' },
  u: { page: 'usage' },
  k: { page: 'keys' },
  s: { page: 'secrets' },
  w: { page: 'workspace' },
}

type ShortcutAction =
  | { readonly kind: 'go'; readonly route: Route }
  | { readonly kind: 'help' }
  | { readonly kind: 'filter' }
  | { readonly kind: 'theme' }

/** Time in ms between `g` and its letter. */
const SEQUENCE_MS = 1500

/** Recognises shortcuts in the keys that are pressed outside of fields: `?`, `/`, `d`, and `g` with a letter. */
export class Shortcuts {
  #goAt = Number.NEGATIVE_INFINITY

  /** `now` in ms; null: the key means nothing. */
  press(key: string, now: number): ShortcutAction | null {
    const isSequence = now - this.#goAt <= SEQUENCE_MS
    this.#goAt = Number.NEGATIVE_INFINITY
    const route = PAGES[key]
    if (isSequence && route !== undefined) return { kind: 'go', route }
    if (key === 'g') this.#goAt = now
    if (key === '?') return { kind: 'help' }
    if (key === '/') return { kind: 'filter' }
    if (key === 'd') return { kind: 'theme' }
    return null
  }
}

/** The shortcuts as the help shows them: keys and page or action. */
export const SHORTCUT_ROWS = [
  { keys: ['g', 'r'], name: 'nav.runs' },
  { keys: ['g', 'l'], name: 'nav.live' },
  { keys: ['g', 'a'], name: 'nav.agents' },
  { keys: ['g', 'e'], name: 'nav.evaluation' },
  { keys: ['g', 't'], name: 'nav.telephony' },
  { keys: ['g', 'u'], name: 'nav.usage' },
  { keys: ['g', 'k'], name: 'nav.keys' },
  { keys: ['g', 's'], name: 'nav.secrets' },
  { keys: ['g', 'w'], name: 'nav.workspace' },
  { keys: ['/'], name: 'shortcuts.filter' },
  { keys: ['d'], name: 'shell.theme' },
  { keys: ['?'], name: 'shortcuts.title' },
] as const
