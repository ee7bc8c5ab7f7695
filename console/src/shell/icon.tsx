const PATHS = {
  runs: 'M4 6h16M4 12h16M4 18h10',
  live: 'M12 12h.01M8.5 8.5a5 5 0 0 0 0 7M15.5 8.5a5 5 0 0 1 0 7M5.6 5.6a9 9 0 0 0 0 12.8M18.4 5.6a9 9 0 0 1 0 12.8',
  agents: 'M6 3v6a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v6M6 3v18M3 6l3-3 3 3M15 18l3 3 3-3',
  telephony: 'M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a2 2 0 0 1-2 2A15 15 0 0 1 3 6a2 2 0 0 1 2-2',
  usage: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  alerts: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  team: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6 6 0 0 1 3 5.5',
  knowledge: 'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2M13 20a2 2 0 0 1 2-2h4V4',
  evaluation: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 15h9',
  keys: 'M15 7a4 4 0 1 1-3.9 5H3v4h3v-2h2v-2h3.1A4 4 0 0 1 15 7zM15 11h.01',
  'provider-keys': 'M4 7h10M4 12h6M4 17h10M17 9v6M14 12h6',
  secrets: 'M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3',
  audit: 'M7 3h8l4 4v14H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM9 12h6M9 16h6',
  workspace:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 2v4M12 18v4M2 12h4M18 12h4M5 5l2.5 2.5M16.5 16.5 19 19M19 5l-2.5 2.5M7.5 16.5 5 19',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  play: 'M8 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  back: 'M15 5l-7 7 7 7',
  phoneIn: 'M19 5 9 15M9 8v7h7',
  phoneOut: 'M5 19 15 9M8 9h7v7',
  text: 'M5 5h14v10H9l-4 4z',
  plus: 'M12 5v14M5 12h14',
  check: 'M5 12l5 5 9-11',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  send: 'M4 12l16-7-6 16-3-7z',
  microphone: 'M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11v1a6 6 0 0 0 12 0v-1M12 18v3',
  exit: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  hangUp: 'M3 14c5-5 13-5 18 0l-2.5 2.5-4-1.5v-2.5a12 12 0 0 0-5 0V15l-4 1.5z',
} as const

export type IconName = keyof typeof PATHS

/** A decorative icon; the text beside it, or the label of its button, says what it means. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
