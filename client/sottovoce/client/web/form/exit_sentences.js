/** Sentences about the quick way out, by language and key: few surveys need them, so they come with its part. */
export const EXIT_SENTENCES = {
  "en": {
    "exit": "Exit this page",
    "exit_stays": "After Exit, this page’s address is still in the browser’s list of visited pages: delete it there.",
    "exit_seen": "Exit opens an empty page of this server, and the server can see that.",
    "exit_keys": "Three presses of Esc do the same as Exit."
  },
  "ar": {
    "exit": "غادر هذه الصفحة",
    "exit_stays": "بعد المغادرة يبقى عنوان هذه الصفحة في سجل المتصفح: احذفه هناك.",
    "exit_seen": "تفتح المغادرة صفحة فارغة من هذا الخادم، ويستطيع الخادم أن يرى ذلك.",
    "exit_keys": "الضغط ثلاث مرات على Esc يفعل ما يفعله زر المغادرة."
  },
  "de": {
    "exit": "Seite verlassen",
    "exit_stays": "Danach steht die Adresse noch in der Liste besuchter Seiten des Browsers: Löschen Sie sie dort.",
    "exit_seen": "Beim Verlassen öffnet sich eine leere Seite dieses Servers; der Server kann das sehen.",
    "exit_keys": "Dreimal Esc verlässt die Seite ebenso."
  },
  "es": {
    "exit": "Salir ahora",
    "exit_stays": "Tras salir, la dirección de esta página sigue en el historial del navegador: bórrela allí.",
    "exit_seen": "Al salir se abre una página vacía de este servidor, y el servidor puede verlo.",
    "exit_keys": "Pulsar tres veces Esc hace lo mismo."
  },
  "fr": {
    "exit": "Quitter cette page",
    "exit_stays": "Après la sortie, l’adresse reste dans l’historique du navigateur : supprimez-la à cet endroit.",
    "exit_seen": "La sortie ouvre une page vide de ce serveur, et le serveur peut le voir.",
    "exit_keys": "Trois appuis sur Esc font la même chose."
  },
  "hi": {
    "exit": "यह पेज छोड़ें",
    "exit_stays": "छोड़ने के बाद भी इस पेज का पता ब्राउज़र के इतिहास में रहता है: उसे वहाँ मिटाएँ।",
    "exit_seen": "छोड़ने पर इसी सर्वर का एक ख़ाली पेज खुलता है, और सर्वर यह देख सकता है।",
    "exit_keys": "Esc तीन बार दबाने से भी पेज छूट जाता है।"
  },
  "it": {
    "exit": "Esci da questa pagina",
    "exit_stays": "Dopo Esci, l’indirizzo di questa pagina è ancora nella cronologia del browser: lo cancelli lì.",
    "exit_seen": "Esci apre una pagina vuota di questo server, e il server può vederlo.",
    "exit_keys": "Premere tre volte Esc fa lo stesso di Esci."
  },
  "pt": {
    "exit": "Sair desta página",
    "exit_stays": "Depois de sair, o endereço continua no histórico do navegador: apague-o lá.",
    "exit_seen": "Ao sair, abre-se uma página vazia deste servidor, e o servidor pode ver isso.",
    "exit_keys": "Apertar três vezes Esc faz o mesmo."
  },
  "zh-Hans": {
    "exit": "离开此页",
    "exit_stays": "离开后，此页的网址仍在浏览器的历史记录中：请在那里删除。",
    "exit_seen": "离开时会打开本服务器的一个空白页，服务器可以看到这一点。",
    "exit_keys": "按三次 Esc 与此相同。"
  }
};
