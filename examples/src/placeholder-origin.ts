import type { Draft } from '@parley/flow'

/** Where the actions of the example agents point as they are written. */
export const PLACEHOLDER_ORIGIN = 'http://127.0.0.1:8790'

/** The draft with its actions pointing to `origin` (`http://127.0.0.1:49152`, without a path) instead of the placeholder. */
export function withOrigin(draft: Draft, origin: string): Draft {
  const { actions = [] } = draft
  return {
    ...draft,
    actions: actions.map(action =>
      action.kind === 'http' && action.url.startsWith(`${PLACEHOLDER_ORIGIN}/`)
        ? { ...action, url: origin + action.url.slice(PLACEHOLDER_ORIGIN.length) }
        : action,
    ),
  }
}
