/** Sentences about the quick way out, by language and key: few surveys need them, so they come with its part. */
export const EXIT_SENTENCES = {
  "en": {
    "exit": "Exit this page",
    "exit_forgets": "Exit deletes this survey and your receipt from this browser; you can then no longer withdraw here. What was drawn stays as numbers without words, so that nothing is drawn twice and what waits is sent.",
    "exit_file": "This file stays on the device: delete it there.",
    "exit_stays": "After Exit, this page’s address is still in the browser’s list of visited pages: delete it there.",
    "exit_seen": "Exit opens an empty page of this server, and the server can see that.",
    "exit_keys": "Three presses of Esc do the same as Exit."
  },
  "ar": {
    "exit": "غادر هذه الصفحة",
    "exit_forgets": "تحذف المغادرة هذا الاستبيان وإيصالك من هذا المتصفح، فلا يمكن السحب من هنا بعد ذلك. يبقى ما حدّدته المصادفة أرقامًا بلا كلمات، كي لا تُعاد القرعة ويُرسل ما ينتظر.",
    "exit_file": "يبقى هذا الملف على الجهاز: احذفه هناك.",
    "exit_stays": "بعد المغادرة يبقى عنوان هذه الصفحة في سجل المتصفح: احذفه هناك.",
    "exit_seen": "تفتح المغادرة صفحة فارغة من هذا الخادم، ويستطيع الخادم أن يرى ذلك.",
    "exit_keys": "الضغط ثلاث مرات على Esc يفعل ما يفعله زر المغادرة."
  },
  "de": {
    "exit": "Seite verlassen",
    "exit_forgets": "Beim Verlassen werden diese Umfrage und Ihre Quittung in diesem Browser gelöscht; zurücknehmen können Sie hier dann nicht mehr. Was ausgelost wurde, bleibt als Zahlen ohne Worte, damit nichts zweimal ausgelost und Wartendes gesendet wird.",
    "exit_file": "Diese Datei bleibt auf dem Gerät: Löschen Sie sie dort.",
    "exit_stays": "Danach steht die Adresse noch in der Liste besuchter Seiten des Browsers: Löschen Sie sie dort.",
    "exit_seen": "Beim Verlassen öffnet sich eine leere Seite dieses Servers; der Server kann das sehen.",
    "exit_keys": "Dreimal Esc verlässt die Seite ebenso."
  },
  "es": {
    "exit": "Salir ahora",
    "exit_forgets": "Al salir se borran de este navegador esta encuesta y su recibo; desde aquí ya no podrá retirar nada. Lo sorteado queda como números sin palabras, para que nada se sortee dos veces y se envíe lo que espera.",
    "exit_file": "Este archivo queda en el dispositivo: bórrelo allí.",
    "exit_stays": "Tras salir, la dirección de esta página sigue en el historial del navegador: bórrela allí.",
    "exit_seen": "Al salir se abre una página vacía de este servidor, y el servidor puede verlo.",
    "exit_keys": "Pulsar tres veces Esc hace lo mismo."
  },
  "fr": {
    "exit": "Quitter cette page",
    "exit_forgets": "La sortie efface de ce navigateur cette enquête et votre reçu ; vous ne pourrez plus rien retirer d’ici. Ce qui a été tiré reste en nombres sans mots, pour que rien ne soit tiré deux fois et que ce qui attend parte.",
    "exit_file": "Ce fichier reste sur l’appareil : supprimez-le à cet endroit.",
    "exit_stays": "Après la sortie, l’adresse reste dans l’historique du navigateur : supprimez-la à cet endroit.",
    "exit_seen": "La sortie ouvre une page vide de ce serveur, et le serveur peut le voir.",
    "exit_keys": "Trois appuis sur Esc font la même chose."
  },
  "hi": {
    "exit": "यह पेज छोड़ें",
    "exit_forgets": "छोड़ने पर यह सर्वेक्षण और आपकी रसीद इस ब्राउज़र से मिट जाते हैं; फिर यहाँ से उत्तर वापस नहीं लिए जा सकते। जो निकाला गया, वह बिना शब्दों के केवल अंकों में रहता है, ताकि कुछ दो बार न निकले और जो रुका है वह भेजा जाए।",
    "exit_file": "यह फ़ाइल डिवाइस पर रहती है: उसे वहाँ मिटाएँ।",
    "exit_stays": "छोड़ने के बाद भी इस पेज का पता ब्राउज़र के इतिहास में रहता है: उसे वहाँ मिटाएँ।",
    "exit_seen": "छोड़ने पर इसी सर्वर का एक ख़ाली पेज खुलता है, और सर्वर यह देख सकता है।",
    "exit_keys": "Esc तीन बार दबाने से भी पेज छूट जाता है।"
  },
  "it": {
    "exit": "Esci da questa pagina",
    "exit_forgets": "Esci cancella da questo browser questo sondaggio e la sua ricevuta; da qui non potrà più ritirare nulla. Ciò che è stato estratto resta in numeri senza parole, perché nulla sia estratto due volte e ciò che attende sia inviato.",
    "exit_file": "Questo file resta sul dispositivo: lo cancelli lì.",
    "exit_stays": "Dopo Esci, l’indirizzo di questa pagina è ancora nella cronologia del browser: lo cancelli lì.",
    "exit_seen": "Esci apre una pagina vuota di questo server, e il server può vederlo.",
    "exit_keys": "Premere tre volte Esc fa lo stesso di Esci."
  },
  "pt": {
    "exit": "Sair desta página",
    "exit_forgets": "Sair apaga deste navegador esta pesquisa e o seu recibo; daqui não poderá mais retirar nada. O que foi sorteado fica em números sem palavras, para que nada seja sorteado duas vezes e o que espera seja enviado.",
    "exit_file": "Este arquivo fica no dispositivo: apague-o lá.",
    "exit_stays": "Depois de sair, o endereço continua no histórico do navegador: apague-o lá.",
    "exit_seen": "Ao sair, abre-se uma página vazia deste servidor, e o servidor pode ver isso.",
    "exit_keys": "Apertar três vezes Esc faz o mesmo."
  },
  "zh-Hans": {
    "exit": "离开此页",
    "exit_forgets": "离开会从这个浏览器中删除此问卷和您的回执；之后不能再从这里撤回。抽取的结果只以数字保留，不含文字，以免重复抽取，并让等待的回答得以发送。",
    "exit_file": "此文件仍在设备上：请在那里删除。",
    "exit_stays": "离开后，此页的网址仍在浏览器的历史记录中：请在那里删除。",
    "exit_seen": "离开时会打开本服务器的一个空白页，服务器可以看到这一点。",
    "exit_keys": "按三次 Esc 与此相同。"
  }
};
