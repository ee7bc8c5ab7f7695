import type { HeaderList } from './header-list.ts'

/** All tokens of Allow, Supported, Require, … over all its lines, as written (methods are case-sensitive, option tags not). */
export function tokenList(_headers: HeaderList, _name: string): string[] {
  throw new Error('being written')
}
