import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  // Wherever it will be mounted: the gateway says where when it tells the page.
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    target: 'es2023',
    // Its own script would be inline, and the policy of the gateway forbids that.
    modulePreload: { polyfill: false },
    // Everything is a file: an inlined image would be a `data:` address.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
