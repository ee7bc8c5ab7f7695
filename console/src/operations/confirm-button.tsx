import { useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'

interface ConfirmProps {
  readonly label: string
  readonly disabled?: boolean
  readonly onConfirm: () => void
}

/** A button for what cannot be undone: a second press within some seconds does it. */
export function ConfirmButton({ label, disabled = false, onConfirm }: ConfirmProps) {
  const { text } = useTexts()
  const [isAsking, setAsking] = useState(false)
  const press = () => {
    setAsking(!isAsking)
    if (isAsking) onConfirm()
  }
  return (
    <button
      type="button"
      className={`button small ${isAsking ? 'danger' : ''}`}
      disabled={disabled}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {isAsking ? text('action.sure', { action: label }) : label}
    </button>
  )
}
