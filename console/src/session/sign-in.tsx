import { type FormEvent, useState } from 'react'
import { faultText } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { LanguageSwitch } from '../shell/language-switch.tsx'
import { Logo } from '../shell/logo.tsx'
import { TextField } from '../ui/fields.tsx'
import { Marked } from '../ui/parts.tsx'
import { type SignedIn, SignInFault, sendLoginLink, signInWithKey } from './session.ts'

/** Signs in with an API key, or has a link sent to a member's address. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: (how: SignedIn) => void }) {
  const { text } = useTexts()
  return (
    <main className="sign-in">
      <div className="card sign-in-card">
        <Logo />
        <h1>{text('signIn.title')}</h1>
        <KeyForm onSignedIn={onSignedIn} />
        <hr />
        <LinkForm />
        <LanguageSwitch />
      </div>
    </main>
  )
}

/** The state of a form that sends something: whether it is being sent, and what went wrong. */
function useSending() {
  const { text } = useTexts()
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async (work: () => Promise<void>) => {
    setBusy(true)
    setFault(null)
    try {
      await work()
    } catch (error) {
      setFault(error instanceof SignInFault && error.status === 401 ? text('signIn.refused') : faultText(error))
    } finally {
      setBusy(false)
    }
  }
  return { fault, isBusy, send }
}

function KeyForm({ onSignedIn }: { readonly onSignedIn: (how: SignedIn) => void }) {
  const { text } = useTexts()
  const { fault, isBusy, send } = useSending()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim()
    void send(async () => onSignedIn(await signInWithKey(key)))
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={text('signIn.key')}
        name="key"
        type="password"
        spellCheck={false}
        required
        placeholder="parley_live_…"
        hint={<Marked text={text('signIn.hint')} />}
      />
      {fault !== null && (
        <p role="alert" className="fault">
          {fault}
        </p>
      )}
      <button type="submit" className="button primary" disabled={isBusy}>
        {text('signIn.submit')}
      </button>
    </form>
  )
}

function LinkForm() {
  const { text } = useTexts()
  const { fault, isBusy, send } = useSending()
  const [isSent, setSent] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const email = String(new FormData(event.currentTarget).get('email') ?? '').trim()
    void send(async () => {
      await sendLoginLink(email)
      setSent(true)
    })
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextField label={text('signIn.email')} name="email" type="email" autoComplete="email" required maxLength={320} />
      {fault !== null && (
        <p role="alert" className="fault">
          {fault}
        </p>
      )}
      {isSent && <p role="status">{text('signIn.sent')}</p>}
      <button type="submit" className="button" disabled={isBusy}>
        {text('signIn.link')}
      </button>
    </form>
  )
}
