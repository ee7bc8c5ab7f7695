export function keepCompiled(): void
