import { createContext, type ReactNode, useContext, useLayoutEffect, useState, useSyncExternalStore } from 'react'

type Choice = 'light' | 'dark' | 'system'

interface Theme {
  /** What is shown. */
  readonly theme: 'light' | 'dark'
  toggle(): void
}

const STORAGE = 'parley.theme'
const ThemeContext = createContext<Theme>({ theme: 'light', toggle: () => {} })

export const useTheme = () => useContext(ThemeContext)

const systemIsDark = () => window.matchMedia('(prefers-color-scheme: dark)')

function subscribe(listener: () => void): () => void {
  const query = systemIsDark()
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Light or dark: as the system says until the user chooses. */
export function ThemeProvider({ children }: { readonly children: ReactNode }) {
  const [choice, setChoice] = useState<Choice>(storedChoice)
  const isDark = useSyncExternalStore(subscribe, () => systemIsDark().matches)
  const theme = choice === 'system' ? (isDark ? 'dark' : 'light') : choice
  // Before the effects of the page, which read the colours.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme
    localStorage.setItem(STORAGE, choice)
  }, [choice, theme])
  const toggle = () => setChoice(theme === 'dark' ? 'light' : 'dark')
  return <ThemeContext value={{ theme, toggle }}>{children}</ThemeContext>
}

function storedChoice(): Choice {
  const stored = localStorage.getItem(STORAGE)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}
