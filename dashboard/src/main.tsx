import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './theme.css'
import { kept } from './words/kept.ts'

const theme = kept('theme', 'system')
if (theme !== 'system') document.documentElement.dataset['theme'] = theme

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
