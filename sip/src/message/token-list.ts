import { consistsOf, TOKEN } from './characters.ts'
import type { HeaderList } from './header-list.ts'
import { splitList } from './split-list.ts'

/**
 * All tokens of Allow, Supported, Require, … over all its lines, as written (methods are case-sensitive, option tags
 * not). Elements that are not tokens are left out.
 */
export function tokenList(headers: HeaderList, name: string): string[] {
  return headers
    .all(name)
    .flatMap(splitList)
    .filter(element => consistsOf(TOKEN, element))
}
