/** Light or dark: as the system has it, unless somebody has said so here. */
import { keep } from '../words/kept.ts'

export const THEMES = ['system', 'light', 'dark'] as const

export function wear(theme: (typeof THEMES)[number]): void {
  keep('theme', theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
