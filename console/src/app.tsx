import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { apiWith, isUnauthenticated, SessionContext } from './api/api.tsx'
import { TextsProvider } from './i18n/i18n.tsx'
import { Page } from './page.tsx'
import { storedKey, storeKey } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { Shell } from './shell/shell.tsx'
import { ThemeProvider } from './shell/theme.tsx'

export function App() {
  return (
    <TextsProvider>
      <ThemeProvider>
        <SignedIn />
      </ThemeProvider>
    </TextsProvider>
  )
}

function SignedIn() {
  const [key, setKey] = useState<string | null>(storedKey)
  const signedIn = useMemo(() => {
    if (key === null) return null
    const signOut = () => {
      storeKey(null)
      setKey(null)
    }
    try {
      const api = apiWith(key)
      const queries = new QueryClient({
        // A key that was revoked leads back to the sign-in.
        queryCache: new QueryCache({ onError: error => isUnauthenticated(error) && signOut() }),
        defaultOptions: { queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: false } },
      })
      return { session: { api, signOut }, queries }
    } catch {
      return null
    }
  }, [key])
  if (signedIn === null)
    return (
      <SignIn
        onKey={given => {
          storeKey(given)
          setKey(given)
        }}
      />
    )
  return (
    <SessionContext value={signedIn.session}>
      <QueryClientProvider client={signedIn.queries}>
        <Shell>
          <Page />
        </Shell>
      </QueryClientProvider>
    </SessionContext>
  )
}
