import { type MouseEvent, type ReactNode, useSyncExternalStore } from 'react'
import { pathOf, type Route, routeOf } from './routes.ts'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('popstate', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('popstate', listener)
  }
}

function go(url: string, { replace = false } = {}): void {
  if (replace) window.history.replaceState(null, '', url)
  else {
    window.history.pushState(null, '', url)
    window.scrollTo(0, 0)
  }
  for (const listener of listeners) listener()
}

export function navigate(route: Route): void {
  go(pathOf(route))
}

export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => window.location.pathname))
}

/** The query of the page's address, and a function that replaces it. */
export function useSearch(): readonly [URLSearchParams, (search: URLSearchParams) => void] {
  const text = useSyncExternalStore(subscribe, () => window.location.search)
  const replace = (search: URLSearchParams) => {
    const query = search.toString()
    go(`${window.location.pathname}${query === '' ? '' : `?${query}`}`, { replace: true })
  }
  return [new URLSearchParams(text), replace]
}

interface LinkProps {
  readonly to: Route
  readonly search?: string
  readonly className?: string
  readonly current?: boolean
  readonly children: ReactNode
}

/** A link within the console. Clicks with a modifier key open it as the browser does. */
export function Link({ to, search = '', className, current = false, children }: LinkProps) {
  const href = `${pathOf(to)}${search}`
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(href)
  }
  return (
    <a href={href} className={className} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}
