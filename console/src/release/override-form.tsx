import { type FormEvent, useState } from 'react'
import { useSession } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { TextField } from '../ui/fields.tsx'
import { FormActions } from '../ui/form-actions.tsx'

interface OverrideProps {
  readonly isPending: boolean
  readonly onOverride: (reason: string) => void
}

/** Makes a version live without the evidence of its gate, with a reason that the audit log keeps. Not shown to sessions that may not. */
export function OverrideForm({ isPending, onOverride }: OverrideProps) {
  const { text } = useTexts()
  const { how } = useSession()
  const [isOpen, setOpen] = useState(false)
  if (how.kind === 'session' && how.session.role !== 'admin') return null
  if (!isOpen)
    return (
      <div>
        <button type="button" className="button small" onClick={() => setOpen(true)}>
          {text('gate.overrideOpen')}
        </button>
      </div>
    )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onOverride(String(new FormData(event.currentTarget).get('reason')).trim())
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={text('gate.overrideReason')}
        hint={text('gate.overrideHint')}
        name="reason"
        required
        pattern=".*\S.*"
        maxLength={500}
      />
      <FormActions label={text('gate.overrideDo')} isPending={isPending} look="danger" />
    </form>
  )
}
