import { type FormEvent, useId, useState } from 'react'
import { apiWith, faultText, isUnauthenticated } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { LanguageSwitch } from '../shell/language-switch.tsx'
import { Logo } from '../shell/logo.tsx'

/** Asks for an API key and checks it by a request. */
export function SignIn({ onKey }: { readonly onKey: (key: string) => void }) {
  const { text } = useTexts()
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim()
    setBusy(true)
    setFault(null)
    try {
      await apiWith(key).environments.list()
      onKey(key)
    } catch (error) {
      setFault(isUnauthenticated(error) || error instanceof TypeError ? text('signIn.refused') : faultText(error))
      setBusy(false)
    }
  }
  return (
    <main className="sign-in">
      <form className="card sign-in-card" onSubmit={submit}>
        <Logo />
        <h1>{text('signIn.title')}</h1>
        <label htmlFor={id}>{text('signIn.key')}</label>
        <input
          id={id}
          name="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder="parley_live_…"
          aria-describedby={`${id}-hint`}
        />
        <p id={`${id}-hint`} className="hint">
          {text('signIn.hint')}
        </p>
        {fault !== null && (
          <p role="alert" className="fault">
            {fault}
          </p>
        )}
        <button type="submit" className="button primary" disabled={isBusy}>
          {text('signIn.submit')}
        </button>
        <LanguageSwitch />
      </form>
    </main>
  )
}
