export function Logo() {
  return (
    <span className="logo">
      <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--brand)" />
        <path d="M8 13v6M13 9v14M18 12v8M23 7v18" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      </svg>
      Parley
    </span>
  )
}
