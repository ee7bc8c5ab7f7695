import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { apiFor, isUnauthenticated, SessionContext } from './api/api.tsx'
import { TextsProvider } from './i18n/i18n.tsx'
import { Page } from './page.tsx'
import {
  chooseEnvironment,
  chosenEnvironment,
  type Environment,
  type SignedIn,
  signedIn,
  signOut,
} from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { Shell } from './shell/shell.tsx'
import { ThemeProvider } from './shell/theme.tsx'

export function App() {
  return (
    <TextsProvider>
      <ThemeProvider>
        <SignedInPage />
      </ThemeProvider>
    </TextsProvider>
  )
}

function SignedInPage() {
  const [how, setHow] = useState<SignedIn | null | 'unknown'>('unknown')
  const [environment, setEnvironment] = useState(chosenEnvironment)
  useEffect(() => {
    signedIn().then(setHow, () => setHow(null))
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another environment has other answers
  const signedInWith = useMemo(() => {
    if (how === null || how === 'unknown') return null
    const session = {
      api: apiFor(how),
      how,
      signOut: () => void signOut(how).finally(() => setHow(null)),
      chooseEnvironment(chosen: Environment) {
        chooseEnvironment(chosen)
        setEnvironment(chosen)
      },
    }
    const queries = new QueryClient({
      // A session that has ended leads back to the sign-in.
      queryCache: new QueryCache({ onError: error => isUnauthenticated(error) && setHow(null) }),
      defaultOptions: { queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: false } },
    })
    return { session, queries }
  }, [how, environment])
  if (how === 'unknown') return null
  if (signedInWith === null) return <SignIn onSignedIn={setHow} />
  return (
    <SessionContext value={signedInWith.session}>
      <QueryClientProvider client={signedInWith.queries}>
        <Shell key={environment}>
          <Page />
        </Shell>
      </QueryClientProvider>
    </SessionContext>
  )
}
